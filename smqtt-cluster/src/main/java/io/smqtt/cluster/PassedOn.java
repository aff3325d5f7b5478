// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.Elsewhere;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Passes the messages parked for a failed node to the one that serves its sessions, page by page: the next page when that node has accepted the one before.
 * Until then they stay in the park.
 *
 * <p>At last nothing is parked any more, and messages go to the other node directly. For that moment what is queued for that node waits until it has the
 * rest of the park. A message is either parked, and names the failed node to no other one, or it is not parked, and names it: event loops queue a
 * message for the failed node before the same one for others ({@link LoopBuffers}), and here it is the other way round.
 */
@OnClusterLoop
final class PassedOn {

    private final ParkedMessages park;
    private final ParkedForGroups groups;
    private final BrokerObserver observer;
    private final Executor loop;
    private final Runnable takeOffered;
    private @Nullable Heir heir;
    private String homes = Homes.NONE;
    private LeftOut leftOut = LeftOut.NOTHING;
    /** Names the failed node in messages to the other one from now on; null if messages are parked, and passed on. */
    private @Nullable Runnable direct;

    private boolean parks;

    /** Whether messages for the other node wait. */
    private boolean holding;

    /** If sessions are left out, messages are copied, from this row on. */
    private long copiedUpTo;

    private boolean copying;

    /** Copies that were not accepted. */
    private final List<OutboundMessage> failedCopies = new ArrayList<>();

    private @Nullable Runnable done;
    private long upTo;

    /** Whether the messages that were sent to the failed node are in the park, since the begin. */
    private boolean complete;

    /** Messages that were not accepted: passed on again with the next tick, or given back. */
    private final List<OutboundMessage> failed = new ArrayList<>();

    /** The number of messages that are with a node. */
    private int open;

    private boolean due;

    /**
     * Creates it for a park.
     *
     * @param groups gives those that are for members of groups
     * @param takeOffered parks what event loops have queued for the failed node
     */
    PassedOn(
            ParkedMessages park, ParkedForGroups groups, BrokerObserver observer, Executor loop, Runnable takeOffered) {
        this.groups = groups;
        this.takeOffered = takeOffered;
        this.park = park;
        this.observer = observer;
        this.loop = loop;
    }

    /**
     * Begins to pass on, or changes how.
     *
     * @param next the node that serves the sessions of the failed one
     * @param ofNodes the failed node, see {@link Homes}
     * @param without the sessions that it does not serve
     * @param named null if messages that come later are parked, and passed on, too. Otherwise they go to that node directly when it has what is parked,
     *     and this names the failed node in them; all nodes know its routes then
     * @param whenDone runs when it was given all that is here now
     */
    void begin(Heir next, String ofNodes, LeftOut without, @Nullable Runnable named, Runnable whenDone) {
        letGo();
        if (heir != next) {
            copiedUpTo = 0;
            failedCopies.clear();
        }
        leftOut = without;
        heir = next;
        homes = ofNodes;
        direct = named;
        parks = true;
        done = whenDone;
        upTo = park.lastRow();
        complete = false;
    }

    void end() {
        letGo();
        heir = null;
        done = null;
        failedCopies.clear();
        giveBack();
    }

    boolean isWanted() {
        return heir != null;
    }

    /** Whether a message that comes now is in flight to the other node already, by the routes of that. It is settled then. */
    boolean takesAlready(OutboundMessage message) {
        if (heir == null || parks || leftOut.matches(message.message())) {
            return false;
        }
        observer.messageElsewhere(Elsewhere.DUPLICATE, 1);
        message.settle(true);
        return true;
    }

    /** The failed node is reachable: what waits for it goes there. Newer messages go to both. */
    void nothingIsParked() {
        giveBack();
        if (direct != null) {
            direct.run();
        }
        finish();
    }

    /** Messages that come from now on name the failed node in what is sent to the other one. */
    void parkNothing(Heir next) {
        if (heir == next && direct != null) {
            parks = false;
        }
    }

    /** The other node has what was here at the begin. */
    private void caughtUp() {
        Heir next = heir;
        if (next != null && direct != null && parks) {
            if (!next.hold(this)) {
                return; // again with the next tick
            }
            holding = true;
            direct.run();
            takeOffered.run(); // as the last ones
            parks = false;
            upTo = park.lastRow();
            loop.execute(this::run);
            return;
        }
        letGo();
        finish();
    }

    private void letGo() {
        Heir next = heir;
        if (next != null && holding) {
            holding = false;
            next.letGo(this);
        }
    }

    /** Gives back all that was not accepted, when that is known of all: a message that is given back hides earlier ones that are not. */
    private void giveBack() {
        if (open == 0 && !failed.isEmpty()) {
            failed.sort(Comparator.comparingLong(OutboundMessage::row));
            List<OutboundMessage> all = List.copyOf(failed);
            failed.clear();
            giveBack(all);
        }
    }

    /** Returns messages to their places if no later ones are in flight, otherwise behind all others. */
    private void giveBack(List<OutboundMessage> messages) {
        if (park.hasTaken(messages.size())) {
            park.giveBack(messages);
        } else {
            messages.forEach(park::addAgain);
        }
    }

    /** Passes what has failed once more, or the next page. Called again and again. */
    void run() {
        if (heir == null || open > 0) {
            return;
        }
        if (!failed.isEmpty()) { // later messages of the same publishers wait for these
            failed.sort(Comparator.comparingLong(OutboundMessage::row));
            List<OutboundMessage> again = List.copyOf(failed);
            failed.clear();
            again.forEach(message -> give(message, false));
            return;
        }
        if (!leftOut.isNothing()) {
            copy();
            return;
        }
        if (!groups.isFull()) {
            park.take(this::pass);
        }
        if (open == 0 && failed.isEmpty() && groups.isIdle() && !park.hasUnreadUpTo(upTo)) {
            caughtUp();
        }
    }

    /** Passes copies of the next page on. Later messages are not copied: the routes of the other node have it. */
    private void copy() {
        if (copying) {
            return;
        }
        if (!failedCopies.isEmpty()) {
            List<OutboundMessage> again = List.copyOf(failedCopies);
            failedCopies.clear();
            again.forEach(message -> give(message, true));
            return;
        }
        if (copiedUpTo >= upTo) {
            caughtUp();
            return;
        }
        copying = true;
        Heir next = heir;
        park.look(copiedUpTo + 1, page -> {
            copying = false;
            if (page == null || heir == null || heir != next) {
                return; // again with the next tick
            }
            List<OutboundMessage> due =
                    page.stream().filter(message -> message.row() <= upTo).toList();
            copiedUpTo = due.isEmpty() ? upTo : due.get(due.size() - 1).row();
            due.stream().filter(OutboundMessage::isToAll).forEach(message -> give(message, true));
            if (due.isEmpty()) {
                caughtUp();
            }
        });
    }

    /**
     * Passes on what the failed node was sent, and has not accepted.
     *
     * @param lost receives messages for its connected clients alone
     */
    void passSent(Iterable<Outbound> sent, Consumer<Outbound> lost) {
        for (Outbound message : sent) {
            complete = false; // what was sent later
            if (OutboundFrame.rowOf(message) != 0) {
                pass((OutboundMessage) message);
            } else {
                lost.accept(message);
            }
        }
        if (!complete) {
            complete = true;
            upTo = park.lastRow();
        }
    }

    private void pass(List<OutboundMessage> page) {
        if (heir == null) {
            giveBack(page);
            return;
        }
        groups.give(page).forEach(this::pass);
    }

    /** Passes a message on, which was taken from the park. */
    void pass(OutboundMessage message) {
        if (leftOut.isNothing()) {
            give(message, false);
        } else {
            park.addAgain(message); // it is copied as the others
        }
    }

    private void give(OutboundMessage message, boolean copy) {
        Heir next = heir;
        if (next == null) {
            if (!copy) {
                failed.add(message);
                giveBack();
            }
            return;
        }
        open++;
        next.take(message.message(), homes, isSafe -> {
            open--;
            if (!isSafe && copy) {
                if (heir == next) {
                    failedCopies.add(message);
                }
            } else if (!isSafe) {
                failed.add(message);
            } else {
                if (!copy) {
                    park.accepted(message);
                }
                if (!(next instanceof PeerOutbox)) { // a peer counts the delivery
                    observer.messageElsewhere(Elsewhere.MOVED, 1);
                }
            }
            answered(isSafe);
        });
    }

    private void answered(boolean isSafe) {
        if (heir == null) {
            giveBack();
        } else if (isSafe && open == 0 && !due) {
            due = true;
            loop.execute(this::again);
        }
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
