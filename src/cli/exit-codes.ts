/**
 * The command line: `cellarbook …`, for whoever holds the data folder. Here live the commands, the operations that they
 * run, and the socket by which they reach a running service. No rules of keys or cellars: those are the domain's.
 *
 * This file is what a script can rely on.
 */
export const exitCodes = {
  done: 0,
  /** The command was understood, and refused or failed; the sentence on stderr says why. */
  refused: 1,
  /** Wrong words on the command line. */
  usage: 64,
  /** The service, its store or its address could not be reached, or did not confirm. */
  unreachable: 69,
  /** The environment, the data folder or the port is not fit for use. */
  configuration: 78,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** How a command ended; `message` is for stderr. */
export type End = { readonly exitCode: ExitCode; readonly message: string | null }

/** Ends a command: one sentence for stderr, and the code. */
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
  1   refused, or failed in a way that only a person can mend
  64  wrong usage of the command line
  69  the service, its store or its address could not be reached, or did not confirm
  78  configuration: a wrong environment variable, a data folder or a port that can't be used`
