// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import java.net.InetSocketAddress;
import java.util.EnumMap;
import java.util.Map;
import org.jgroups.stack.IpAddress;
import org.jspecify.annotations.Nullable;

/** Counts what was refused at the port of the cluster, and logs at most one line in ten seconds for each reason. Any thread. */
final class Refusals {

    /** Why a connection was refused. */
    enum Reason {
        /** One end does not have the secret of the other one. */
        SECRET("does not have this node's cluster.secret"),
        /** There is no TLS, or no certificate of the authority. */
        TLS("has no certificate that cluster.tls.client-ca has signed, or does not speak TLS"),
        /** The first bytes are not those of a node of this version. */
        GREETING("does not begin as a node does"),
        /** It took too long to say who it is. */
        SLOW("did not say who it is in time"),
        /** Too many others came before it was known who it is. */
        CROWDED("had not said who it is when too many others came"),
        /** A frame is not what nodes send to each other. */
        FRAME("sent what no node sends");

        private final String words;

        Reason(String words) {
            this.words = words;
        }
    }

    private final Map<Reason, LimitedLog> logs = new EnumMap<>(Reason.class);
    private final Runnable counter;

    /**
     * Creates the refusals of one channel.
     *
     * @param counter is run for each refusal; any thread
     */
    Refusals(Runnable counter) {
        this.counter = counter;
        for (Reason reason : Reason.values()) {
            logs.put(reason, new LimitedLog(System::nanoTime));
        }
    }

    private static String shown(@Nullable Object address) {
        if (address instanceof InetSocketAddress socket && !socket.isUnresolved()) {
            return new IpAddress(socket).toString();
        }
        return address == null ? "an unknown address" : address.toString();
    }

    /**
     * Reports that a connection was refused, which is closed.
     *
     * @param address of the other end
     * @param details how it was noticed, or null
     */
    void refused(Reason reason, @Nullable Object address, @Nullable String details) {
        counter.run();
        LimitedLog log = logs.get(reason);
        if (log != null) {
            log.warn(
                    "somebody at %s %s%s: the connection is closed",
                    shown(address), reason.words, details == null ? "" : " (" + details + ")");
        }
    }
}
