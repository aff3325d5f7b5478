// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.log.LogLimiter;
import java.util.ArrayDeque;
import org.jgroups.Address;
import org.jgroups.BytesMessage;
import org.jgroups.JChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Sends to one peer on its own thread, because the channel blocks while the peer reads nothing. The queue is bounded; bulk frames wait
 * behind all others.
 */
final class PeerSender implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(PeerSender.class);
    private static final long MAXIMUM_BULK_BYTES = 8L * 1024 * 1024;
    private static final long MAXIMUM_BYTES = 64L * 1024 * 1024;

    private final JChannel channel;
    private final Address address;
    private final Thread thread;
    private final LogLimiter errors = new LogLimiter(LOG, Level.WARN, 1);

    // guarded by this
    private final ArrayDeque<byte[]> urgent = new ArrayDeque<>();
    private final ArrayDeque<byte[]> bulk = new ArrayDeque<>();
    private long urgentBytes;
    private long bulkBytes;
    private boolean ended;

    PeerSender(JChannel channel, Address address) {
        this.channel = channel;
        this.address = address;
        this.thread = new Thread(this, "smqtt-cluster-to-" + address);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    synchronized boolean offer(byte[] frame, boolean isBulk) {
        if (ended || (isBulk ? bulkBytes >= MAXIMUM_BULK_BYTES : urgentBytes >= MAXIMUM_BYTES)) {
            return false;
        }
        if (isBulk) {
            bulk.add(frame);
            bulkBytes += frame.length;
        } else {
            urgent.add(frame);
            urgentBytes += frame.length;
        }
        notifyAll();
        return true;
    }

    /** Drops the queue. A blocked send ends when the channel detects the failure of the peer. */
    synchronized void end() {
        ended = true;
        urgent.clear();
        bulk.clear();
        notifyAll();
    }

    @Override
    public void run() {
        try {
            for (byte[] next = take(); next != null; next = take()) {
                send(next);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized byte @Nullable [] take() throws InterruptedException {
        while (!ended && urgent.isEmpty() && bulk.isEmpty()) {
            wait();
        }
        if (ended) {
            return null;
        }
        if (!urgent.isEmpty()) {
            byte[] next = urgent.remove();
            urgentBytes -= next.length;
            return next;
        }
        byte[] next = bulk.remove();
        bulkBytes -= next.length;
        return next;
    }

    private void send(byte[] frame) {
        try {
            channel.send(new BytesMessage(address, frame));
        } catch (Exception e) { // declared by the channel; the frame counts as lost, which the layers above handle
            LOG.debug("sending a frame to {} failed", address, e);
        } catch (Error e) { // for example a temporary lack of memory: the frame is lost, later ones are sent
            if (errors.allows(address)) {
                LOG.warn("sending a frame to {} failed", address, e);
            }
        }
    }
}
