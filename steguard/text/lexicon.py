"""Facts that the splitter and the word counter know: abbreviations, starters, units.

All words are lower case and without the last full stop.
"""

from __future__ import annotations

TITLES = frozenset(
    """
    mr mrs ms mx dr prof rev hon fr sr sra messrs mmes mlle mme gen lt col maj capt cmdr adm sgt
    cpl pvt brig gov sen rep pres supt insp det atty amb sec'y gens sens reps profs drs mt mts ft
    st ste
    """.split()
)
"""Stand before a name: a capital after them says nothing."""

NUMBERED = frozenset(
    """
    no nos nr fig figs p pp pg vol vols art arts sec sect secs ch chap chs eq eqs eqn par para
    paras ver v ed app tab ref refs ex item pt col cols ln n° nº №
    """.split()
)
"""Stand before a number or a letter (``Fig. 3``, ``No. 4``, ``App. B``)."""

MONTHS = frozenset(
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri".split()
)

NEVER_LAST = frozenset(
    "e.g i.e eg ie p.s ps vs v cf viz c ca circa resp incl excl approx esp espec al".split()
)
"""Always go on (``e.g. a pump``): no sentence ends with them."""

COMPANY = frozenset(
    """
    inc ltd llc llp lp corp co cos plc gmbh ag sa bros assn assoc intl natl jr sr esq ph.d m.d
    b.a m.a b.sc m.sc dept univ inst dist div est govt mfg mgmt mfr
    """.split()
)
"""Go on before a name and may also stand last: a word that begins sentences decides."""

PLACES = frozenset(
    """
    ave blvd rd ln hwy pl sq ct ter apt ste bldg u.s u.k e.u u.n u.s.a d.c n.y l.a
    ala ariz ark calif colo conn del fla ga ill ind kan ky la md mich minn miss mont neb
    nev okla ore penn tenn tex vt va wash wis wyo
    """.split()
)

UNITS_WITH_STOP = frozenset(
    "ft yd yds mi lb lbs oz gal qt tsp tbsp hr hrs min mins sq cu deg dia rev temp wt ht".split()
)

GENERAL = frozenset(
    """
    config info intro demo approx conf cfg param params func lang coeff eqpt
    etc com cap adm max avg std tel ext fax dep assy qty spec specs nom ident orig prev
    misc subj admin appt attn auth bal cert cont diff doc docs ref elec equiv hyd inv
    maint mech mil obs op oper opp pkg poss pop prod prop pub recd reg rep req ret sched
    ser stat sub supp suppl syn tech trans typ vac var viz yr yrs mo mos wk wks
    """.split()
)

ABBREVIATIONS = (
    TITLES | NUMBERED | MONTHS | NEVER_LAST | COMPANY | PLACES | UNITS_WITH_STOP | GENERAL
)

STARTERS = frozenset(
    """
    a about above according actually additionally after again all almost already also although
    always an and another any anyone anything are as at because before below besides both but by
    can clearly consequently could did do does during each either every everyone everything
    finally first following for from further furthermore he hence her here hers his how however
    i i'd i'll i'm i've if in indeed instead is it it'd it'll it's its just last later like
    likewise make many maybe meanwhile more moreover most my
    neither never nevertheless next no nobody none nor not nothing now obviously of often on once
    one only or other others otherwise our out over perhaps please previously rather
    several she she's should similarly since so some someone something sometimes soon still such
    sure thanks that that's the their them then there there's therefore these they they'll
    they're they've this those though three through thus to today together tomorrow too two
    under unfortunately unless until up upon use usually very was we we'll we're we've well were
    what what's whatever when whenever where whereas whether which while who whose why will with
    within without would yes yesterday yet you you'll you're you've your
    """.split()
)
"""Words that begin sentences and no names: after an abbreviation they show a new sentence."""

GOES_ON = frozenset(
    """
    a about after all also although an and any are as at be because been before being between both
    but by can could did do does during each every for from had has have if in into is its least
    like may might more most must near no nor not of on one onto only or our over per shall should
    some such than that the their them then these they this those through to toward under until up
    upon via was we were when where which while who whose will with within without would you your
    """.split()
)
"""Words with which no line ends on purpose: something must follow them."""

PREPOSITIONS = frozenset(
    "about after around at before by during from in near on since until till at".split()
)

UNITS = frozenset(
    """
    m mm cm dm km µm μm um nm in ft yd mi mil mils
    g kg mg µg μg ug t lb lbs oz
    s ms µs μs us ns min h hr hrs d
    a ma ka µa v kv mv µv w kw mw gw va kva var hz khz mhz ghz thz rpm
    n kn mn nm n·m n•m n⋅m knm j kj mj kwh wh mwh cal kcal btu
    pa kpa mpa hpa gpa bar mbar psi psig psia atm torr mmhg inhg
    °c °f °k ° k c f ohm ohms ω kω mω µf nf pf uf h mh µh
    l ml cl dl µl gal qt pt fl cc
    % ‰ ppm ppb db dba lx lm cd mol rad sr deg
    b kb mb gb tb pb kib mib gib tib bit bits kbit mbit gbit bps kbps mbps gbps byte bytes
    m/s km/h mph kt kts knots m/s² m² m³ mm² mm³ cm² cm³ km² ft² ft³ in² in³ m2 m3 mm2 cm2 cm3
    l/min l/h gpm cfm kg/m³ kg/m3 g/cm³ g/l mg/l lb-ft ft-lb in-lb lbf lbf·ft lbf·in px dpi fps
    am pm a.m. p.m. a.m p.m
    """.split()
)
"""Symbols that make one word with the number before them (STE 8.6)."""

AFTER_TIMES = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
    january february march april june july august september october november december
    est edt cst cdt mst mdt pst pdt et ct mt pt gmt utc bst cet cest ist jst
    """.split()
)
"""What goes on after a time of day ("10 a.m. Monday", "5 p.m. EST")."""

TIME_UNITS = frozenset({"a.m.", "p.m.", "am", "pm", "a.m", "p.m"})
