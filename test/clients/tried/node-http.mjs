import { request } from 'node:http'

const { INGEST_URL, KEY, READING } = process.env
const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json' }
request(INGEST_URL, { method: 'POST', headers }, (answer) => answer.pipe(process.stdout)).end(READING)
