// satori works on the thread that calls it, so each worker is a thread.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

import { Resvg } from '@resvg/resvg-js';
import satori from 'satori';

import { card } from './design.mjs';

async function painter({ width, height, body, display, ...of }) {
  const fonts = [
    { name: 'Inter', weight: 500, style: 'normal', data: await readFile(body) },
    { name: 'Inter Display', weight: 700, style: 'normal', data: await readFile(display) },
  ];
  const make = {
    box: (style, children = []) => ({ type: 'div', props: { style: { display: 'flex', ...style }, children } }),
    text: (text, style) => ({ type: 'div', props: { style: { whiteSpace: 'pre', ...style }, children: text } }),
    picture: (src, style) => ({ type: 'img', props: { src, width: style.width, height: style.height, style } }),
    drawing: (svg, style) => ({
      type: 'img',
      props: { src: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`, width: style.width, height: style.height, style },
    }),
  };
  return async () => {
    const svg = await satori(card(make, of), { width, height, fonts });
    return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng();
  };
}

export async function open(given) {
  const workers = [];
  for (let i = 0; i < given.workers; i++) workers.push(new Worker(new URL(import.meta.url), { workerData: given }));
  const draws = workers.map((worker) => async () => {
    worker.postMessage('draw');
    const [png] = await once(worker, 'message');
    return Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  });
  return { draws, close: () => Promise.all(workers.map((worker) => worker.terminate())) };
}

if (!isMainThread) {
  const draw = await painter(workerData);
  parentPort.on('message', async () => parentPort.postMessage(await draw()));
}
