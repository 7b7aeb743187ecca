// A browser driven by puppeteer-core, as programs that read pages do: a context of its own for each page, which is read when
// nothing was being fetched for half a second.
// puppeteer.mjs EXECUTABLE SANDBOX PAGES_AT_ONCE: reads commands from stdin, answers each with a line of JSON.
//   read FILE    reads the pages whose URLs the JSON file has: {pages, wrong}
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const [executablePath, sandbox, atOnce] = process.argv.slice(2);
const browser = await puppeteer.launch({
  executablePath,
  pipe: true,
  headless: true,
  defaultViewport: { width: 1280, height: 900 },
  args: sandbox === "true" ? [] : ["--no-sandbox"],
});

async function read(url) {
  const context = await browser.createBrowserContext();
  try {
    const page = await context.newPage();
    await page.goto(url, { waitUntil: "networkidle0" });
    await page.content();
    return await page.$eval("h1", (element) => element.textContent);
  } finally {
    await context.close();
  }
}

const commands = {
  async read(file) {
    const urls = JSON.parse(await readFile(file, "utf8"));
    let next = 0;
    let wrong = 0;
    const work = async () => {
      while (next < urls.length) {
        const text = await read(urls[next++]).catch(() => "");
        if (!text.startsWith("made by ")) ++wrong;
      }
    };
    await Promise.all(Array.from({ length: Number(atOnce) }, work));
    return { pages: urls.length, wrong };
  },
};

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...files] = line.split(" ");
  console.log(JSON.stringify(await commands[name](...files)));
}
await browser.close();
