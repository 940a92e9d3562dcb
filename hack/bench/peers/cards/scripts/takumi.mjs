// takumi works on threads of its own, so one renderer serves all workers.
import { readFile } from 'node:fs/promises';

import { Renderer } from '@takumi-rs/core';

import { card } from './design.mjs';

export async function open({ width, height, workers, body, display, ...of }) {
  const renderer = new Renderer();
  await renderer.registerFont({ name: 'Inter', weight: 500, data: await readFile(body) });
  await renderer.registerFont({ name: 'Inter Display', weight: 700, data: await readFile(display) });
  const draw = () => {
    const images = [];
    const make = {
      box: (style, children = []) => ({ type: 'container', style: { display: 'flex', ...style }, children }),
      text: (text, style) => ({ type: 'text', text, style: { whiteSpace: 'pre', ...style } }),
      picture: (src, style) => ({ type: 'image', src, style }),
      // No two cards have the same chart, so what was drawn isn't kept, as it would be for an image by default.
      drawing: (svg, style) => {
        const src = `drawing:${images.length}`;
        images.push({ src, data: Buffer.from(svg), cache: 'none' });
        return { type: 'image', src, style };
      },
    };
    return renderer.render(card(make, of), { width, height, images, format: 'png' });
  };
  return { draws: Array.from({ length: workers }, () => draw), close: () => {} };
}
