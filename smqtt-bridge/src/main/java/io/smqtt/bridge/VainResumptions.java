// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts the connections to one address, one after another, that resumed the session there and had all messages refused. */
final class VainResumptions {

    private static final Logger LOG = LoggerFactory.getLogger(VainResumptions.class);
    private static final int MOST = 3;

    private final String bridge;
    private String address = "";
    private int count;

    VainResumptions(String bridge) {
        this.bridge = bridge;
    }

    /**
     * A connection over which messages were sent has ended.
     *
     * @param inVain whether the session was resumed and no message was taken
     * @param needed whether the session may hold messages for this broker
     * @return whether the session is to begin anew
     */
    boolean endSession(String by, boolean inVain, boolean needed) {
        if (!by.equals(address)) {
            address = by;
            count = 0;
        }
        count = inVain ? count + 1 : 0;
        if (count != MOST) {
            return false;
        }
        LOG.warn(
                "bridge {}: {} has resumed the session {} times and refused its messages with reason 0x97; {}",
                bridge,
                by,
                MOST,
                needed
                        ? "it is not begun anew, because messages that come in may wait in it"
                        : "the session is begun anew");
        return !needed;
    }
}
