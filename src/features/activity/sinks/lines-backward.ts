import type { FileHandle } from 'node:fs/promises'

const BLOCK = 65_536
const NEWLINE = 10

/** A line of a file, and the position at which it begins. */
export interface FileLine {
  readonly text: string
  readonly start: number
}

/** Reads the lines of a file that end before a position, last line first. Holds one block and one line at a time. */
export async function* linesBackward(file: FileHandle, end: number): AsyncGenerator<FileLine> {
  let rest: Buffer = Buffer.alloc(0)
  for (let position = end; position > 0; ) {
    const size = Math.min(BLOCK, position)
    position -= size
    const block = Buffer.alloc(size)
    const { bytesRead } = await file.read(block, 0, size, position)
    let text = Buffer.concat([block.subarray(0, bytesRead), rest])
    for (let newline = text.lastIndexOf(NEWLINE); newline !== -1; newline = text.lastIndexOf(NEWLINE)) {
      const line = text.subarray(newline + 1)
      if (line.length > 0) yield { text: line.toString(), start: position + newline + 1 }
      text = text.subarray(0, newline)
    }
    rest = Buffer.from(text)
  }
  if (rest.length > 0) yield { text: rest.toString(), start: 0 }
}
