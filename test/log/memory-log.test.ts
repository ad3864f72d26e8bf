import { setDefaultTimeout } from 'bun:test'
import { describeInProcessLog } from '../support/logs/in-process.ts'
import { createMemoryLog } from '../support/logs/memory-log.ts'
import { describeEventLog } from './contract.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(600_000)

const open = async () => {
  const log = createMemoryLog()
  return { log, dispose: () => log.close() }
}

describeEventLog('memory', open)
describeInProcessLog('memory', open)
