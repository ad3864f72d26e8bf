import { openSqliteLog } from '../../../src/log/sqlite/sqlite-log.ts'
import { describeEventLog } from '../contract.ts'
import { describeInProcessLog } from '../in-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'

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
