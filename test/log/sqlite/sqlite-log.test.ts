import { setDefaultTimeout } from 'bun:test'
import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { describeInProcessLog } from '../../support/logs/in-process.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { describeEventLog } from '../contract.ts'

// The default timeout of 5 s is too short on a busy CPU.
setDefaultTimeout(60_000)

const open = async () => {
  const folder = temporaryFolder()
  const log = openSqliteLog({ dataDir: folder.path })
  const dispose = async (): Promise<void> => {
    await log.close()
    folder.remove()
  }
  return { log, dispose }
}

describeEventLog('sqlite', open)
describeInProcessLog('sqlite', open)
