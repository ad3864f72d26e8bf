/**
 * Names are quoted for each language, because a cellar can be called `'; rm -rf ~ #`. Inside JSON, quotes, backslashes and
 * invisible characters become `\uXXXX`, so no shell can interpret them. The shell fish, for example, interprets `\\` even
 * within single quotes.
 */
const isPlain = (character: string): boolean =>
  !/['"\\<>&\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u.test(character)

const unitEscape = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at), 4)}`).join('')

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

const quotedBy = (escaped: (character: string) => string, text: string): string =>
  `"${[...text].map((character) => (isPlain(character) ? character : escaped(character))).join('')}"`

export const jsonString = (text: string): string => quotedBy(unitEscape, text)

/** Python never joins two `\u` escapes to one character, so characters above U+FFFF need `\U`. */
export const pythonString = (text: string): string =>
  quotedBy((character) => {
    const code = character.codePointAt(0) ?? 0
    return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
  }, text)

/** Between single quotes, only the single quote is special. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export type Snippet = {
  /** Without a final slash. */
  readonly baseUrl: string
  readonly cellar: string
}

const ingestUrl = (baseUrl: string): string => `${baseUrl}/api/v1/ingest`
/** Stores nothing (docs/contract.md, "Check without storing"). */
const checkUrl = (baseUrl: string): string => `${ingestUrl(baseUrl)}/check`

/** Only this line contains the key, so a page can show the other snippets at any time. */
export const shellKey = (key: string): string => `export CELLARBOOK_KEY=${shellWord(key)}`

export const shellCheck = (snippet: Snippet): string => shellRequest(checkUrl(snippet.baseUrl), snippet)
export const shellReading = (snippet: Snippet): string => shellRequest(ingestUrl(snippet.baseUrl), snippet)

const shellRequest = (url: string, { cellar }: Snippet): string => {
  const before = `{"cellar":${jsonString(cellar)},"rack":"rack-1","keg":"temperature","value":21.5,"timestamp":"`
  return [
    `curl -sS ${shellWord(url)} \\`,
    `  -H "X-API-Key: $CELLARBOOK_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${shellWord(before)}"$(date -u +%Y-%m-%dT%H:%M:%SZ)"${shellWord('"}')}`,
  ].join('\n')
}

/**
 * Only the standard library. A check, because a first try can have mistakes. A comment in the program says how to store.
 */
export const pythonCheck = ({ baseUrl, cellar }: Snippet): string => `import json, os, urllib.error, urllib.request
from datetime import datetime, timezone

# This address stores nothing. To store the reading, remove "/check".
url = ${pythonString(checkUrl(baseUrl))}
reading = {
    "cellar": ${pythonString(cellar)},
    "rack": "rack-1",
    "keg": "temperature",
    "value": 21.5,
    "timestamp": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
}
request = urllib.request.Request(
    url,
    data=json.dumps(reading).encode(),
    headers={"X-API-Key": os.environ["CELLARBOOK_KEY"], "Content-Type": "application/json"},
)
try:
    answer = urllib.request.urlopen(request, timeout=10)
except urllib.error.HTTPError as refusal:
    answer = refusal
print(answer.status, answer.read().decode())`

/** For Node, Bun and Deno. With `redirect: 'manual'`, `fetch` sends the key to no other host. */
export const javascriptCheck = ({
  baseUrl,
  cellar,
}: Snippet): string => `// This address stores nothing. To store the reading, remove "/check".
const url = ${jsonString(checkUrl(baseUrl))}
const reading = {
  cellar: ${jsonString(cellar)},
  rack: "rack-1",
  keg: "temperature",
  value: 21.5,
  timestamp: new Date().toISOString(),
}
fetch(url, {
  method: "POST",
  headers: { "X-API-Key": process.env.CELLARBOOK_KEY, "Content-Type": "application/json" },
  body: JSON.stringify(reading),
  redirect: "manual",
})
  .then((answer) => answer.text().then((text) => console.log(answer.status, text)))
  .catch((fault) => console.error("not sent:", fault))`
