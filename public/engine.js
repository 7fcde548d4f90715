// Loads the engine into a Web Worker. The build's mark in the address keeps caches apart.
const asked = new URLSearchParams(self.location.search);
const name = asked.get("bin") === "worker-gpu" ? "worker-gpu" : "worker";
const mark = `?build=${asked.get("build") ?? ""}`;
const { default: start } = await import(`./${name}.js${mark}`);
await start({ module_or_path: new URL(`./${name}_bg.wasm${mark}`, import.meta.url) });
