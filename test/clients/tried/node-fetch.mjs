const { INGEST_URL, KEY, READING } = process.env
const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json' }
console.log(await (await fetch(INGEST_URL, { method: 'POST', headers, body: READING })).text())
