// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/** Receives the progress of a run, on the thread that runs it. */
interface Progress {

    /** The number of clients that are connected and subscribed. */
    void connecting(int ready, int all);

    /** An interval has passed. */
    void sample(Sample sample);

    /** The end of the progress; the caller prints the rest. */
    void end();
}
