// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.List;

/**
 * A client that waits for its session to be stored before it is told that it has it. Other claims of the session wait until
 * then.
 */
@OnEventLoop
final class SessionOpening {

    private final List<Runnable> afterwards = new ArrayList<>();

    /** Lets something wait for the outcome. */
    void afterwards(Runnable task) {
        afterwards.add(task);
    }

    /** The outcome is known and was dealt with. */
    void finish() {
        afterwards.forEach(Runnable::run);
    }
}
