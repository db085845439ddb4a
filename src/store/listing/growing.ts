// Lists of numbers that grow.

type NumberList = Float64Array | Uint32Array

export interface Growing<List extends NumberList> {
  add(value: number): void
  /** The numbers, in memory of their own. */
  take(): List
}

export const createFloats = () => grow((length) => new Float64Array(length))
export const createWords = () => grow((length) => new Uint32Array(length))

const startLength = 256

function grow<List extends NumberList>(make: (length: number) => List): Growing<List> {
  let list = make(startLength)
  let length = 0
  return {
    add(value) {
      if (length === list.length) {
        const longer = make(length * 2)
        longer.set(list)
        list = longer
      }
      list[length++] = value
    },
    take: () => list.slice(0, length) as List,
  }
}
