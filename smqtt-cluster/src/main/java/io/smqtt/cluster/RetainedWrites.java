// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The changes of other nodes that are in flight to the broker's tree, where clients read them. */
@OnClusterLoop
final class RetainedWrites {

    /** The messages, and how often each of them is to be stored. */
    private final Map<ApplicationMessage, Integer> storing = new ConcurrentHashMap<>();

    /** The latest one of each topic. */
    private final Map<String, Write> latest = new HashMap<>();

    private static final class Write {

        private final ApplicationMessage message;
        private final List<Receipt> receipts;
        private int times;

        Write(ApplicationMessage message, List<Receipt> receipts) {
            this.message = message;
            this.receipts = receipts;
        }
    }

    private static final class Receipt {

        private final Runnable then;
        private int missing;

        Receipt(Runnable then) {
            this.then = then;
        }

        private void written() {
            missing--;
            if (missing == 0) {
                then.run();
            }
        }
    }

    /** Whether a message came from another node, and is to be stored. */
    @AnyThread
    boolean contains(ApplicationMessage message) {
        return storing.containsKey(message);
    }

    /** A message is to be stored. If an earlier one of its topic is not stored yet, that is not awaited any more. */
    void begin(ApplicationMessage message) {
        storing.merge(message, 1, Integer::sum);
        String topic = message.topic().value();
        Write last = latest.get(topic);
        if (last == null || last.message != message) {
            last = new Write(message, last == null ? new ArrayList<>() : last.receipts);
            latest.put(topic, last);
        }
        last.times++;
    }

    /** A message was stored, or was not because of a limit or a later change. After {@link #begin} of what takes its place. */
    void end(ApplicationMessage message) {
        storing.computeIfPresent(message, (key, times) -> times == 1 ? null : times - 1);
        String topic = message.topic().value();
        Write last = latest.get(topic);
        if (last != null && last.message == message) {
            last.times--;
            if (last.times == 0) {
                latest.remove(topic);
                last.receipts.forEach(Receipt::written);
            }
        }
    }

    /** Whether the tree has all changes. */
    boolean isEmpty() {
        return latest.isEmpty();
    }

    /** Runs a task when the tree has the present changes of topics. */
    void whenWritten(Collection<String> topics, Runnable then) {
        Receipt receipt = new Receipt(then);
        for (String topic : topics) {
            Write write = latest.get(topic);
            if (write != null) {
                receipt.missing++;
                write.receipts.add(receipt);
            }
        }
        if (receipt.missing == 0) {
            then.run();
        }
    }

    /** Runs a task when the tree has all present changes. */
    void whenWritten(Runnable then) {
        whenWritten(List.copyOf(latest.keySet()), then);
    }
}
