// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import org.jspecify.annotations.Nullable;

/**
 * The state of a source of this node. Immutable. Counts begin with the broker, and again when an operator replaces the source; what was received is published, refused, failed, or in flight.
 *
 * @param name its name
 * @param type the kind of source
 * @param state whether it is read
 * @param lastError why it fails, while it fails; null otherwise
 * @param received messages that have arrived
 * @param published messages that the broker has, as safe as those that are acknowledged to a client
 * @param refused messages that cannot be published, because their topic is not valid; they are dropped
 * @param failed messages that the broker could not keep; they are not acknowledged to the source, and come again
 * @param inflight messages that have arrived and are not yet stored
 * @param rejected what was turned away before it became a message, such as requests beyond a limit or without the right token
 * @param lag messages that wait in the external system, as it was asked some seconds ago; null if that is not known
 */
public record SourceStatus(
        String name,
        String type,
        State state,
        @Nullable String lastError,
        long received,
        long published,
        long refused,
        long failed,
        long inflight,
        long rejected,
        @Nullable Long lag) {

    /** Whether a source is read. */
    public enum State {
        /** It is not read: an operator has stopped it, or the broker starts or stops. */
        STOPPED,
        /** Another node of the cluster has it. */
        STANDBY,
        /** It is read. */
        RUNNING,
        /** It is read, but not now: as much is in flight as may be, or the queues of the broker are nearly full. */
        PAUSED,
        /** It has failed, and is tried again; or this node cannot use it as an operator has made it. */
        FAILING
    }
}
