/**
 * The request holds one operation as JSON. Each line of the answer is one frame: a line of the result, or the `end`.
 * Without an `end`, the service stopped before the answer was complete.
 */
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { exitCodes } from '../exit-codes.ts'
import { Line } from '../show/lines.ts'
import { Operation } from './operations.ts'

export const socketPathOf = (dataDir: string): string => join(dataDir, 'control.sock')

const EndFrame = Type.Object({
  end: Type.Object({
    exitCode: Type.Union(Object.values(exitCodes).map((code) => Type.Literal(code))),
    message: Type.Union([Type.String(), Type.Null()]),
  }),
})
const Frame = Type.Union([Type.Object({ line: Line }), EndFrame])
export type Frame = Static<typeof Frame>

const frameCheck = TypeCompiler.Compile(Frame)
const operationCheck = TypeCompiler.Compile(Operation)

export const encodeFrame = (frame: Frame): string => `${JSON.stringify(frame)}\n`

/** `null`: the service has another version. */
export const decodeFrame = (text: string): Frame | null => decoded(text, frameCheck)

export const encodeOperation = (operation: Operation): string => JSON.stringify(operation)

export const decodeOperation = (text: string): Operation | null => decoded(text, operationCheck)

const decoded = <T>(text: string, check: { Check(value: unknown): value is T }): T | null => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  return check.Check(value) ? value : null
}
