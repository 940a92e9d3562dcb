import { chromium } from 'playwright-core';

export async function open({ width, height, workers, html, browser }) {
  const running = await chromium.launch({ executablePath: browser });
  const draws = [];
  for (let i = 0; i < workers; i++) {
    const page = await running.newPage({ viewport: { width, height } });
    draws.push(async () => {
      await page.setContent(html);
      return page.screenshot();
    });
  }
  return { draws, close: () => running.close() };
}
