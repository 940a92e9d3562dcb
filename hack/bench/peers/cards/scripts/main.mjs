// Draws a card as often as it is told, with one of the packages: node main.mjs PEER GIVEN. Says "ready" on stdout, obeys the
// lines of stdin, each with one line of JSON, and ends with them.
import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const [, , peer, file] = process.argv;
const { open } = await import(`./${peer}.mjs`);
// draws has a function for each worker, which gives a PNG.
const { draws, close } = await open(JSON.parse(await readFile(file, 'utf8')));
let first = await draws[0]();

async function many(count) {
  let begun = 0;
  await Promise.all(draws.map(async (draw) => {
    while (begun++ < count) {
      const png = await draw();
      if (!first.equals(png)) throw new Error('the same card has other bytes');
    }
  }));
}

const say = (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`);
say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [word, argument] = line.split(' ');
  if (word === 'draw') await many(Number(argument));
  else if (word === 'save') await writeFile(argument, first);
  else throw new Error(`${word} is no command`);
  say('done');
}
await close();
