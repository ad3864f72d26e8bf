import { describe, expect, test } from 'bun:test'
import { WorkerThread } from '../src/worker-thread.ts'

/** Starts a thread and collects what it reports. `firstFault` resolves at its first fault. */
const start = (program: string) => {
  const messages: string[] = []
  const fault = Promise.withResolvers<string>()
  const ended = Promise.withResolvers<void>()
  const thread = new WorkerThread<string, string>({
    module: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
    onMessage: (message) => messages.push(message),
    onFault: fault.resolve,
    onEnd: ended.resolve,
  })
  return { thread, messages, firstFault: fault.promise, ended: ended.promise }
}

const echo = 'self.onmessage = ({ data }) => self.postMessage(data === "last" ? "closed" : data)'

describe('WorkerThread', () => {
  test('passes messages in order, and close() waits for the answer to the last', async () => {
    const { thread, messages, ended } = start(echo)
    thread.post('one')
    thread.post('two')
    await thread.close('last')
    expect(messages).toEqual(['one', 'two'])
    await ended
  })

  test.each([
    ['an Error', '\n\nself.onmessage = () => {\n throw new Error("broken\\n1 | secret") }', 'broken'],
    [
      'a TypeError of a promise',
      'self.onmessage = async () => {\n throw new TypeError("broken") }',
      'TypeError: broken',
    ],
    ['a text', 'self.onmessage = () => { throw "broken" }', 'broken'],
    ['a loading module', 'throw new RangeError("broken")', 'RangeError: broken'],
  ])('reports %s of its thread without source code, and close() waits for no answer', async (_, program, why) => {
    const { thread, firstFault } = start(program)
    thread.post('one')
    expect(await firstFault).toBe(why)
    await thread.close('last')
  })

  test('ends close() when its thread fails meanwhile', async () => {
    const { thread, messages, firstFault } = start('self.onmessage = () => { throw new Error("broken") }')
    await thread.close('last')
    expect(await firstFault).toContain('broken')
    expect(messages).toEqual([])
  })

  test('ends a busy thread at once', async () => {
    const { thread, ended } = start('self.onmessage = () => { for (;;); }')
    thread.post('one')
    thread.end()
    await ended
  })
})
