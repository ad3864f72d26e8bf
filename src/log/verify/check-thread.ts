/**
 * On the event loop, each step would delay requests. Only a thread may import this file, because the code below runs at
 * import.
 */
import { messageOf } from '../../domain/error-message.ts'
import type { FromCheckThread, ToCheckThread } from './background-check.ts'
import { checkLogFile } from './check-log-file.ts'
import { yieldProcessor } from './yield-processor.ts'

/** Leaves the disk to the service. */
const checkedBytesPerSecondMax = 16_000_000
/** At most a fifth of a processor core. */
const checkRestFactor = 4

declare const self: Worker

let isClosing = false
let isChecking = false
let endRest = (): void => {}

self.onmessage = ({ data }: MessageEvent<ToCheckThread>): void => {
  if (data.kind === 'check') void check(data)
  else {
    isClosing = true
    endRest()
    if (!isChecking) tell('closed')
  }
}

type Asked = Extract<ToCheckThread, { readonly kind: 'check' }>

const check = async (asked: Asked): Promise<void> => {
  isChecking = true
  yieldProcessor()
  const answer = await answerOf(asked)
  isChecking = false
  if (answer !== null) tell(answer)
  if (isClosing) tell('closed')
}

/** `null`: the service stops first. */
const answerOf = async ({ path, acceptsSchema }: Asked): Promise<FromCheckThread | null> => {
  try {
    using steps = checkLogFile({ path, codec: null, checksPages: false, acceptsSchema })
    while (!isClosing) {
      const beganAtMs = performance.now()
      const step = steps.next()
      if (step.done) return { kind: 'checked', result: step.value }
      await rest(step.value.bytes, performance.now() - beganAtMs)
    }
    return null
  } catch (cause) {
    return { kind: 'failed', why: messageOf(cause) }
  }
}

const rest = (bytes: number, workedMs: number): Promise<void> => {
  const ms = Math.max(workedMs * checkRestFactor, (bytes / checkedBytesPerSecondMax) * 1_000 - workedMs)
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    endRest = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}

const tell = (message: FromCheckThread | 'closed'): void => self.postMessage(message)
