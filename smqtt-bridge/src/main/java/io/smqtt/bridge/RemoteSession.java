// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.thread.AnyThread;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what the next connection does with the session at the other broker. A session that is resumed, and refuses all messages again and again, is of
 * no use: a mosquitto that was killed may count messages that it believes to be in flight. It is begun anew, once until a message is taken; if messages
 * come in, after those that wait in it have come.
 */
@AnyThread
final class RemoteSession {

    private static final Logger LOG = LoggerFactory.getLogger(RemoteSession.class);
    private static final int MOST_IN_VAIN = 3;

    private final String bridge;
    private final boolean comesIn;
    private Plan plan = Plan.RESUME;
    private String planned = ""; // the address of a plan
    private String served = ""; // the address of the last connection
    private int inVain;
    private boolean spent;

    /** The use that a connection makes of the session. */
    enum Plan {
        /** Resumes it, if the configuration does not say otherwise. */
        RESUME,
        /** Resumes it until no more messages come from it. */
        DRAIN,
        /** Begins a new one. */
        BEGIN_ANEW
    }

    /**
     * Creates the plan of resuming.
     *
     * @param bridge the name, for logs
     * @param comesIn whether messages for this broker may wait in the session
     */
    RemoteSession(String bridge, boolean comesIn) {
        this.bridge = bridge;
        this.comesIn = comesIn;
    }

    /** The plan for the next connection to an address. */
    synchronized Plan plan(String address) {
        return address.equals(planned) ? plan : Plan.RESUME;
    }

    /**
     * A connection over which messages were sent has ended.
     *
     * @param refusedAll whether the session was resumed, all messages were refused for the time being, and the other broker has ended the connection
     */
    synchronized void served(String address, boolean refusedAll) {
        connectedTo(address);
        if (!refusedAll) {
            inVain = 0;
            spent = false;
            return;
        }
        inVain++;
        if (inVain >= MOST_IN_VAIN && !spent) {
            replace(address, "has resumed the session " + inVain + " times and refused its messages");
        }
    }

    /**
     * The session was resumed, and refuses all messages again and again over a connection that stays.
     *
     * @return whether the connection is to end, so that the session is replaced
     */
    synchronized boolean refusesAll(String address) {
        connectedTo(address);
        if (spent) {
            return false;
        }
        replace(address, "has resumed the session and refuses all messages");
        return true;
    }

    private void connectedTo(String address) {
        if (!address.equals(served)) {
            served = address;
            inVain = 0;
            spent = false;
        }
    }

    private void replace(String address, String finding) {
        spent = true;
        planned = address;
        plan = comesIn ? Plan.DRAIN : Plan.BEGIN_ANEW;
        LOG.warn(
                "bridge {}: {} {} with reason 0x97; {}",
                bridge,
                address,
                finding,
                comesIn ? "the session is begun anew when no more messages come from it" : "the session is begun anew");
    }

    /**
     * A connection has waited for the messages of the session.
     *
     * @param empty whether no more came: then the next connection begins a new session, else the present one is resumed, as it may have messages
     */
    synchronized void drained(String address, boolean empty) {
        planned = address;
        plan = empty ? Plan.BEGIN_ANEW : Plan.RESUME;
        if (!empty) {
            inVain = 0;
            spent = false;
            LOG.warn(
                    "bridge {}: messages still come from the session at {}, or wait for this broker; it is kept",
                    bridge,
                    address);
        }
    }

    /** The next connection to an address begins a new session: the present one is of no use. */
    synchronized void beginAnew(String address) {
        planned = address;
        plan = Plan.BEGIN_ANEW;
    }

    /** The other broker has begun a new session. */
    synchronized void begunAnew(String address) {
        if (address.equals(planned)) {
            plan = Plan.RESUME;
        }
    }
}
