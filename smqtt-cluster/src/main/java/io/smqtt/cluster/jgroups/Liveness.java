// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import io.smqtt.thread.AnyThread;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jgroups.Address;
import org.jgroups.Message;
import org.jgroups.stack.Protocol;
import org.jgroups.util.MessageBatch;
import org.jspecify.annotations.Nullable;

/**
 * Records when the last bytes of a member have arrived, heartbeats and parts of long messages included. Directly above the transport;
 * sends nothing itself.
 */
@AnyThread
final class Liveness extends Protocol {

    private final LongSupplier nanoTime;
    private final Map<Address, AtomicLong> heardAtNanos = new ConcurrentHashMap<>();

    Liveness(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Sets the members; a new one counts as heard now. */
    void members(Collection<Address> members) {
        heardAtNanos.keySet().retainAll(members);
        long now = nanoTime.getAsLong();
        members.forEach(member -> heardAtNanos.putIfAbsent(member, new AtomicLong(now)));
    }

    /** The time since the last bytes of a member; 0 if it is not a member. */
    long silentMillis(Address member) {
        AtomicLong heard = heardAtNanos.get(member);
        return heard == null ? 0 : TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - heard.get());
    }

    private void heard(@Nullable Address member) {
        AtomicLong heard = member == null ? null : heardAtNanos.get(member);
        if (heard != null) {
            heard.lazySet(nanoTime.getAsLong());
        }
    }

    @Override
    public Object up(Message message) {
        heard(message.getSrc());
        return super.up(message);
    }

    @Override
    public void up(MessageBatch batch) {
        heard(batch.getSender());
        super.up(batch);
    }
}
