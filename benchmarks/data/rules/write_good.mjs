// Times write-good on texts that standard input gives as JSON: {"texts": [[sentence, ...], ...],
// "rounds": n}. Prints {"us": [the fastest round of each text], "findings": n, "version": v}.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(process.argv[2] + "/");
const writeGood = require("write-good");
const { texts, rounds } = JSON.parse(readFileSync(0, "utf8"));

let findings = 0;
const best = texts.map(() => Infinity);
for (let round = 0; round <= rounds; round++) {
  findings = 0;
  texts.forEach((sentences, at) => {
    const start = process.hrtime.bigint();
    for (const sentence of sentences) findings += writeGood(sentence).length;
    const us = Number(process.hrtime.bigint() - start) / 1000;
    if (round > 0) best[at] = Math.min(best[at], us); // round 0 warms the compiler up
  });
}
const version = require("write-good/package.json").version;
console.log(JSON.stringify({ us: best, findings, version }));
