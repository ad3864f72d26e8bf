import { describe, expect, test } from 'bun:test'
import { Writable } from 'node:stream'
import { logLinesBytesMax } from '../../src/limits.ts'
import { createLogLines } from '../../src/log-lines.ts'

/** The reader takes the next piece only when the test calls `take`. */
const stalledReader = () => {
  const taken: string[] = []
  let take = (): void => {}
  const stream = new Writable({
    write: (piece, _, next) => {
      taken.push(String(piece))
      take = next
    },
  })
  return { stream, taken, take: () => take() }
}

const readyReader = () => {
  const taken: string[] = []
  const stream = new Writable({
    write: (piece, _, next) => {
      taken.push(String(piece))
      next()
    },
  })
  return { stream, taken }
}

describe('createLogLines()', () => {
  test('writes one JSON object a line, with level, time and what happened', () => {
    const { stream, taken } = readyReader()
    createLogLines(stream, 'info').info('listening', { port: 3000 })
    expect(taken).toHaveLength(1)
    expect(taken[0]).toEndWith('}\n')
    expect(JSON.parse(taken[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/),
      pid: process.pid,
      port: 3000,
      msg: 'listening',
    })
  })

  test('writes an error with its stack, and nothing below its level', () => {
    const { stream, taken } = readyReader()
    const lines = createLogLines(stream, 'warn')
    lines.debug('no')
    lines.info('no')
    lines.error('bug', { error: new Error('broken') })
    expect(taken).toHaveLength(1)
    expect(JSON.parse(taken[0] ?? '')).toMatchObject({ level: 'error', error: { message: 'broken' } })
  })

  test('keeps lines up to its bound for a slow reader, and drops the rest', () => {
    const { stream } = stalledReader()
    const lines = createLogLines(stream, 'info')
    const what = 'x'.repeat(64 * 1024)
    for (let count = 0; count < (2 * logLinesBytesMax) / what.length; count++) lines.info(what)
    expect(stream.writableLength).toBeGreaterThan(logLinesBytesMax - what.length)
    expect(stream.writableLength).toBeLessThan(logLinesBytesMax + 2 * what.length)
  })

  test('continues silently when its reader is gone', async () => {
    const { stream, taken } = readyReader()
    const lines = createLogLines(stream, 'info')
    const closed = new Promise((resolve) => stream.once('close', resolve))
    stream.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    await closed
    lines.info('nobody reads this')
    expect(taken).toEqual([])
  })
})
