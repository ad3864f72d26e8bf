/** A log line has no body, query, API key or link, and no header but `traceparent`: a reader could use a secret in it. */
import type { Writable } from 'node:stream'
import pino from 'pino'
import { escapeHidden } from './hidden-characters.ts'
import type { LogLevel } from './variables.ts'

export const logLinesBytesMax = 4 * 1024 * 1024

type Facts = { readonly [name: string]: string | number | boolean | null | Error | Counts }

type Counts = { readonly [name: string]: number } | readonly { readonly [name: string]: string | number }[]

export type LogLines = {
  debug(what: string, facts?: Facts): void
  info(what: string, facts?: Facts): void
  warn(what: string, facts?: Facts): void
  error(what: string, facts?: Facts): void
}

export const createLogLines = (stream: Writable, level: LogLevel): LogLines => {
  const tellDropped = (lines: number): void =>
    logger.warn({ lines }, 'log lines were dropped: their reader was too slow, or stood still')
  const logger = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    boundedLines(stream, tellDropped),
  )
  return {
    debug: (what, facts = {}) => logger.debug(facts, what),
    info: (what, facts = {}) => logger.info(facts, what),
    warn: (what, facts = {}) => logger.warn(facts, what),
    error: (what, facts = {}) => logger.error(facts, what),
  }
}

/**
 * Drops lines if their reader is slow or gone, so that they do not fill the memory. Bun's stdout always says 0 for
 * `writableLength`. With pino's own destination, a process would never end if its reader were gone.
 */
const boundedLines = (stream: Writable, tellDropped: (lines: number) => void): pino.DestinationStream => {
  let isGone = false
  let waitingBytes = 0
  let dropped = 0
  stream.on('error', () => {
    isGone = true
  })
  const written = (bytes: number): void => {
    waitingBytes -= bytes
    if (dropped === 0 || waitingBytes > logLinesBytesMax / 2) return
    const lines = dropped
    dropped = 0
    tellDropped(lines)
  }
  return {
    write: (line) => {
      if (isGone) return
      if (waitingBytes >= logLinesBytesMax) {
        dropped += 1
        return
      }
      // JSON leaves some control characters unescaped, and a terminal would obey them.
      const text = `${escapeHidden(line.trimEnd())}\n`
      const bytes = Buffer.byteLength(text)
      waitingBytes += bytes
      stream.write(text, () => written(bytes))
    },
  }
}
