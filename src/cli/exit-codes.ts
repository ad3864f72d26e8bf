/** Scripts rely on the numbers. */
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 64,
  damaged: 65,
  unreachable: 69,
  configuration: 78,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** For stderr. `null`: nothing. */
export type End = { readonly exitCode: ExitCode; readonly message: string | null }

export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  constructor(
    message: string,
    readonly exitCode: ExitCode,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}

export const exitCodesHelp = `Exit codes:
  0   done
  1   refused, or failed: a person must act
  64  wrong command line
  65  the log or a backup is damaged
  69  cannot reach the service or its event store, or the change was not confirmed
  78  configuration: a wrong variable, or a data folder or port that cannot be used`
