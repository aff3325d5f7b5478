// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication.adoption;

/** What the entries of a group are applied to. */
interface State {

    Outcome apply(long index, Command command);

    /** Applies a batch again that was applied before: what a correct member never does. */
    void applyAgain(Command command);
}
