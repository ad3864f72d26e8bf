import { setDefaultTimeout } from 'bun:test'
import { createMemoryLog } from '../../src/log/memory.ts'
import { describeEventLog } from './contract.ts'
import { describeInProcessLog } from './in-process.ts'

// A busy machine needs longer than the 5 s that a plain `bun test` gives.
setDefaultTimeout(60_000)

const open = async () => {
  const log = createMemoryLog()
  return { log, dispose: () => log.close() }
}

describeEventLog('memory', open)
describeInProcessLog('memory', open)
