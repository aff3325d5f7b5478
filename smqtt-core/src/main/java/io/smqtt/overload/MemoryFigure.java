// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

/** How much of a memory is in use. */
interface MemoryFigure {

    /** The memory, in a sentence for people. */
    String name();

    /** Bytes in use. */
    long usedBytes();

    /** The bytes that can be in use at most. */
    long maximumBytes();

    /** A number that changes when there is something new to be known about the use. */
    long evidence();
}
