// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/** Hears how a run goes, on the thread that runs it. */
interface Progress {

    /** So many of the clients are connected and subscribed. */
    void connecting(int ready, int all);

    /** Another interval has passed. */
    void sample(Sample sample);

    /** Nothing more will come; what follows is printed by others. */
    void end();
}
