// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.Elsewhere;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Passes the messages parked for a failed node to the one that serves its sessions, page by page. */
@OnClusterLoop
final class PassedOn {

    private final ParkedMessages park;
    private final BrokerObserver observer;
    private final Executor loop;
    private @Nullable Heir heir;
    private String homes = Homes.ALL;
    private boolean parks;
    private @Nullable Runnable done;
    private long upTo;
    private final List<OutboundMessage> failed = new ArrayList<>();
    private int open;
    private boolean due;

    PassedOn(ParkedMessages park, BrokerObserver observer, Executor loop) {
        this.park = park;
        this.observer = observer;
        this.loop = loop;
    }

    /**
     * Begins to pass on, or changes how.
     *
     * @param next the node that serves the sessions of the failed one
     * @param ofNodes the nodes whose sessions are to get the messages, see {@link Homes}: the failed one, and those whose sessions it had served
     * @param parksLater whether messages that come later are parked, and passed on, too; otherwise the routes of that node have them
     * @param whenDone runs when it was given all that is here now
     */
    void begin(Heir next, String ofNodes, boolean parksLater, Runnable whenDone) {
        heir = next;
        homes = ofNodes;
        parks = parksLater;
        done = whenDone;
        upTo = park.lastRow();
    }

    void end() {
        park.giveBack(List.copyOf(failed));
        failed.clear();
        heir = null;
        done = null;
    }

    boolean isWanted() {
        return heir != null;
    }

    /** Whether a message that comes now is in flight to the other node already, by the routes of that. It is settled then. */
    boolean takesAlready(OutboundMessage message) {
        if (heir == null || parks) {
            return false;
        }
        observer.messageElsewhere(Elsewhere.DUPLICATE, 1);
        message.settle(true);
        return true;
    }

    /** The failed node is reachable: what waits for it goes there. */
    void nothingIsParked() {
        finish();
    }

    /** Passes the next page on. Called again and again. */
    void run() {
        if (heir == null) {
            return;
        }
        List<OutboundMessage> again = List.copyOf(failed);
        failed.clear();
        again.forEach(this::pass);
        park.take(this::pass);
        if (open == 0 && failed.isEmpty() && !park.hasUnreadUpTo(upTo)) {
            finish();
        }
    }

    private void pass(List<OutboundMessage> page) {
        if (heir == null) {
            park.giveBack(page);
            return;
        }
        page.forEach(this::pass);
    }

    /** Passes a message on, which was taken from the park. */
    void pass(OutboundMessage message) {
        Heir next = heir;
        if (next == null) {
            return;
        }
        open++;
        String ofMessage = message.homes().equals(Homes.ALL) ? homes : message.homes();
        next.take(message.message(), ofMessage, isSafe -> {
            open--;
            if (!isSafe && heir == next) {
                failed.add(message); // tried again with the next tick
                return;
            }
            if (!isSafe) {
                park.giveBack(List.of(message));
                return;
            }
            park.accepted(message);
            if (!(next instanceof PeerOutbox)) { // a peer counts the delivery
                observer.messageElsewhere(Elsewhere.MOVED, 1);
            }
            if (open == 0 && !due) {
                due = true;
                loop.execute(this::again);
            }
        });
    }

    private void again() {
        due = false;
        run();
    }

    private void finish() {
        Runnable task = done;
        done = null;
        if (task != null) {
            task.run();
        }
    }
}
