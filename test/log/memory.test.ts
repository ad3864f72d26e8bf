import { createMemoryLog } from '../../src/log/memory.ts'
import { describeEventLog } from './contract.ts'
import { describeInProcessLog } from './in-process.ts'

const open = async () => {
  const log = createMemoryLog()
  return { log, dispose: () => log.close() }
}

describeEventLog('memory', open)
describeInProcessLog('memory', open)
