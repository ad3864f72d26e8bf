/** Signs in operators, each of whom downloads an export. An export that ends early begins again. */
import { type Answers, serveLoad, type Times, untilInstant } from './load-process.ts'
import { type OperatorLink, useLink } from './new-operators.ts'
import { csrfTokenIn } from './sign-in-form.ts'

export type ExportDownloads = {
  readonly url: string
  /** Each operator downloads in the format of the same place in `formats`. */
  readonly links: readonly OperatorLink[]
  readonly formats: readonly ('ndjson' | 'csv')[]
}

export type ExportDownloadsResult = {
  /** Exports by the status of the answer. */
  readonly answers: Answers
  /** Of all downloads, without heads. */
  readonly mebibytesPerSecond: number
}

/** An operator can begin the next export only when the end of the last one is recorded. */
const retryMs = 100

const prepare = async ({ url, links, formats }: ExportDownloads) => {
  const cookies: string[] = []
  for (const link of links) cookies.push(await useLink(link))
  return async ({ startMs, endMs }: Times): Promise<ExportDownloadsResult> => {
    const answers: Record<string, number> = {}
    let bytesRead = 0
    const download = async (cookie: string, format: string): Promise<void> => {
      const headers = { Cookie: cookie }
      const page = await (await fetch(`${url}/log`, { headers })).text()
      const body = new URLSearchParams({ list: 'readings', format, _csrf: csrfTokenIn(page) })
      while (Date.now() < endMs) {
        const signal = AbortSignal.timeout(Math.max(1, endMs - Date.now()))
        const answer = await fetch(`${url}/exports`, { method: 'POST', headers, body, signal })
        answers[answer.status] = (answers[answer.status] ?? 0) + 1
        for await (const piece of answer.body ?? []) bytesRead += piece.length
        if (!answer.ok) await Bun.sleep(retryMs)
      }
    }
    await untilInstant(startMs)
    const downloads = cookies.map((cookie, index) =>
      download(cookie, formats[index] ?? 'ndjson').catch(throwUnlessLate),
    )
    await Promise.all(downloads)
    return { answers, mebibytesPerSecond: bytesRead / 1_048_576 / ((endMs - startMs) / 1_000) }
  }
}

/** At the end of the load, a download is cut off. */
const throwUnlessLate = (error: unknown): void => {
  if (!(error instanceof DOMException && error.name === 'TimeoutError')) throw error
}

await serveLoad<ExportDownloads, Times, ExportDownloadsResult>(prepare)
