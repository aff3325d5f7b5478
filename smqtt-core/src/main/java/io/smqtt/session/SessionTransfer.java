// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.LogText;
import io.smqtt.thread.OnEventLoop;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The transfer of a session to another event loop of this node ({@link LoopTransfer}), to another node ({@link OutgoingTransfer})
 * or from one ({@link ReplacingTransfer}, {@link MergingTransfer}). All go through the steps of {@link Step}. A transition that
 * is not in its table fails with an {@link IllegalStateException} and changes nothing.
 *
 * <p>Messages that are routed to the destination are held back until those that went by the origin have arrived, so that the
 * messages of each publisher keep their order. On the event loop of the session.
 */
@OnEventLoop
abstract class SessionTransfer {

    /** The steps of a transfer. {@link #followers()} is the table of transitions. */
    enum Step {

        /** Nothing has been transferred. The session may still complete pending work, and takes messages. */
        PREPARING,

        /** The state and the messages of the session are copied; at the origin new messages are held back. */
        COPYING,

        /** The session is at its destination. Messages that went by the origin follow; later ones are held back. */
        CATCHING_UP,

        /** The destination has the session with all messages, and takes messages at once. */
        COMPLETED,

        /** The origin has the session with all messages, as before. */
        CANCELLED;

        /** The steps that may follow this one. */
        Set<Step> followers() {
            return switch (this) {
                case PREPARING -> EnumSet.of(COPYING, CATCHING_UP, CANCELLED);
                case COPYING -> EnumSet.of(CATCHING_UP, CANCELLED);
                case CATCHING_UP -> EnumSet.of(COMPLETED, CANCELLED);
                case COMPLETED, CANCELLED -> EnumSet.noneOf(Step.class);
            };
        }
    }

    private final String clientId;
    private Step step = Step.PREPARING;
    private @Nullable HeldMessages held;

    SessionTransfer(String clientId) {
        this.clientId = clientId;
    }

    final Step step() {
        return step;
    }

    /** Changes to another step, by the table of {@link Step}. */
    final void become(Step next) {
        if (!step.followers().contains(next)) {
            throw new IllegalStateException(this + " cannot become " + next);
        }
        step = next;
    }

    /** Changes to a step that may have begun. */
    final void proceed(Step next) {
        if (step != next) {
            become(next);
        }
    }

    /** Requires one of the steps in which a call is possible. */
    final void require(Step first, Step... others) {
        if (!EnumSet.of(first, others).contains(step)) {
            throw new IllegalStateException(this + " does not allow this call");
        }
    }

    // --- messages that are held back

    /** Holds back messages that are routed to the session, except for those of shared groups if it moves between nodes. */
    final void holdBack(Session session, boolean betweenNodes) {
        held = session.intake().holdBack(betweenNodes);
    }

    /** The messages that are held back. */
    final HeldMessages held() {
        return Objects.requireNonNull(held, "no messages are held back");
    }

    /** Delivers the messages that were held back. Returns false if none were. */
    final boolean letGo(Session session) {
        HeldMessages messages = held;
        held = null;
        if (messages != null) {
            session.intake().letGo(messages);
        }
        return messages != null;
    }

    @Override
    public final String toString() {
        return "SessionTransfer[" + LogText.escape(clientId) + ", " + step + ']';
    }
}
