// Keeps the site in the browser, so that it opens without a network. The build fills in its mark and
// its files; a new build is another cache, and takes over when the visitor agrees.
const MARK = "BUILD_MARK";
const FILES = ["BUILD_FILES"];
const CACHE = `camel-lab-${MARK}`;

self.addEventListener("install", (event) => {
  const fresh = FILES.map((file) => new Request(file, { cache: "reload" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(fresh)));
});

const forgetOldBuilds = async () => {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith("camel-lab-") && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
};

self.addEventListener("activate", (event) => event.waitUntil(forgetOldBuilds()));

self.addEventListener("message", (event) => {
  if (event.data === "take-over") self.skipWaiting();
});

// A kept file, or one from the network that is then kept too.
const answer = async (request) => {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request.mode === "navigate" ? "./" : request, { ignoreSearch: true });
  // Made anew it has the address that was asked for, whose query tells a worker what to load.
  if (kept) return new Response(kept.body, kept);
  const response = await fetch(request);
  if (response.ok && response.type === "basic") await cache.put(request, response.clone());
  return response;
};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const address = new URL(request.url);
  const build = address.searchParams.get("build") ?? MARK;
  // Another build's files are none of ours.
  if (request.method !== "GET" || address.origin !== self.location.origin || build !== MARK) return;
  event.respondWith(answer(request));
});
