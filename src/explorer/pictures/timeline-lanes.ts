// The lanes of a timeline: how they are drawn, and what is at the pointer.

import { useState } from 'preact/hooks'
import { labelOf, within } from '../format.ts'
import { html } from '../html.ts'
import { axisHeight, TimeAxis } from './axis.ts'
import { texts } from '../texts.ts'
import { pointIn, whenLeft } from './frame.ts'
import { fitText } from './labels.ts'
import { type Scale, scaleOf } from './scale.ts'
import type { Bin, Lane } from './timeline-data.ts'

/** A single lane has taller bars. */
const laneHeightOf = (count: number) => (count === 1 ? 72 : 34)

/** The height of a number of lanes, in pixels, with their axis. */
export const lanesHeight = (count: number): number => count * laneHeightOf(count) + 4 + axisHeight

/** A shorter drag is a click. */
const dragMin = 5
/** How far a pointer may be from the middle of a narrow bar, in pixels. */
const reach = 3

/** A mark or a bar: its lane, and its place in the lane. */
export interface Pointed {
  readonly lane: number
  readonly index: number
}

interface LanesProps {
  readonly lanes: readonly Lane[]
  readonly width: number
  /** What is shown, in milliseconds since 1970. */
  readonly from: number
  readonly to: number
  readonly pointed: Pointed | undefined
  readonly onPoint: (pointed: Pointed | undefined) => void
  readonly onChoose: (bin: Bin) => void
  readonly zoomTo: (least: number, most: number) => void
}

export function laneLabel({ kind }: Lane): string {
  return kind === undefined ? texts.allKinds : labelOf(kind)
}

export function Lanes(props: LanesProps) {
  const { lanes, width, from, to, pointed, onPoint, onChoose, zoomTo } = props
  const [brush, setBrush] = useState<readonly [number, number]>()
  const left = within(width * 0.18, 84, 150)
  const right = width - 8
  const scale = scaleOf(from, to, left, right)
  const height = laneHeightOf(lanes.length)
  const bottom = lanes.length * height + 4
  const tallest = Math.max(...lanes.flatMap(({ bins }) => bins.map(densityOf)), 0)
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return
    ;(event.currentTarget as Element).setPointerCapture(event.pointerId)
    const { x, y } = pointIn(event)
    const start = within(x, left, right)
    setBrush([start, start])
    onPoint(nearestTo(lanes, scale, x, Math.floor(y / height)))
  }
  const onPointerMove = (event: PointerEvent) => {
    const { x, y } = pointIn(event)
    if (brush !== undefined) setBrush([brush[0], within(x, left, right)])
    else onPoint(nearestTo(lanes, scale, x, Math.floor(y / height)))
  }
  const onPointerUp = () => {
    setBrush(undefined)
    const [least = 0, most = 0] = (brush ?? []).toSorted((a, b) => a - b)
    const bin = lanes[pointed?.lane ?? -1]?.bins[pointed?.index ?? -1]
    if (most - least > dragMin) zoomTo(scale.valueAt(least), scale.valueAt(most))
    else if (brush !== undefined && bin !== undefined) onChoose(bin)
  }
  return html`<svg class="brushable" width=${width} height=${lanesHeight(lanes.length)}
    onPointerDown=${onPointerDown} onPointerMove=${onPointerMove} onPointerUp=${onPointerUp}
    onPointerCancel=${() => setBrush(undefined)}
    onPointerLeave=${whenLeft(() => onPoint(undefined))}>
    <${TimeAxis} scale=${scale} width=${width} top=${0} bottom=${bottom} />
    ${lanes.map((lane, n) => {
      const index = pointed?.lane === n ? pointed.index : undefined
      return html`<${LaneShape} key=${lane.kind} lane=${lane} top=${n * height}
        height=${height} left=${left}
        scale=${scale} tallest=${tallest} index=${index} />`
    })}
    ${
      brush !== undefined &&
      html`<rect class="brush" x=${Math.min(...brush)} y="0" height=${bottom}
        width=${Math.abs(brush[1] - brush[0])} />`
    }
  </svg>`
}

/** Changes for each millisecond. */
function densityOf({ from, to, count }: Bin): number {
  return count / Math.max(1, to - from)
}

interface LaneShapeProps {
  readonly lane: Lane
  readonly top: number
  readonly height: number
  readonly left: number
  readonly scale: Scale
  /** The greatest density of all lanes. */
  readonly tallest: number
  /** The mark or bar at the pointer. */
  readonly index: number | undefined
}

function LaneShape({ lane, top, height, left, scale, tallest, index }: LaneShapeProps) {
  const { marks, bins } = lane
  const middle = top + height / 2
  const foot = top + height - 3
  const line = bins.length > 0 ? foot : middle
  return html`<g>
    <text class="label" x="0" y=${middle + 4}>${fitText(laneLabel(lane), left - 8)}</text>
    <line class="grid" x1=${left} x2=${scale.at(scale.to)} y1=${line} y2=${line} />
    ${bins.map((bin, n) => {
      const x = Math.max(left, scale.at(bin.from))
      const barHeight = Math.max(2, (densityOf(bin) / tallest) * (height - 8))
      return html`<rect key=${n} class=${n === index ? 'bar on' : 'bar'} x=${x}
        y=${foot - barHeight}
        height=${barHeight} width=${Math.max(1, scale.at(bin.to) - x - 1)} />`
    })}
    ${marks.map(
      ({ ms, row }, n) => html`<circle key=${row['id']} class=${n === index ? 'dot on' : 'dot'}
        cx=${scale.at(ms)} cy=${middle} r=${n === index ? 6 : 4} />`,
    )}
  </g>`
}

/** The mark or bar of a lane at a place, or nearest to it. */
function nearestTo(
  lanes: readonly Lane[],
  scale: Scale,
  x: number,
  lane: number,
): Pointed | undefined {
  const { marks = [], bins = [] } = lanes[lane] ?? {}
  const shapes = [...marks.map(({ ms }) => ({ from: ms, to: ms })), ...bins]
  const distances = shapes.map(({ from, to }, index) => {
    const toMiddle = Math.abs(scale.at((from + to) / 2) - x)
    const half = Math.max(reach, (scale.at(to) - scale.at(from)) / 2)
    return { index, toMiddle, toEdge: Math.max(0, toMiddle - half) }
  })
  // Beside a wide bar, a narrow one within reach comes first.
  const [nearest] = distances.toSorted((a, b) => a.toEdge - b.toEdge || a.toMiddle - b.toMiddle)
  return nearest && { lane, index: nearest.index }
}
