// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import org.slf4j.LoggerFactory;
import sun.misc.Signal;

/** Handlers for signals of the operating system. */
interface Signals {

    /**
     * Says what happens on SIGTERM and SIGINT.
     *
     * @param action run on a thread of the virtual machine, once per signal
     */
    void onStop(Runnable action);

    /**
     * Says what happens on SIGHUP.
     *
     * @param action run on a thread of the virtual machine, once per signal
     */
    void onReload(Runnable action);

    /** Ends the process now, without anything of what usually comes at the end. */
    void halt();

    /**
     * The signals of this process. The class is not part of the Java standard, yet of every JDK; a shutdown hook could
     * tell neither a second signal nor SIGHUP.
     *
     * @return the signals
     */
    static Signals ofProcess() {
        return new Signals() {
            @Override
            public void onStop(Runnable action) {
                handle("TERM", action);
                handle("INT", action);
            }

            @Override
            public void onReload(Runnable action) {
                handle("HUP", action);
            }

            @Override
            public void halt() {
                Runtime.getRuntime().halt(ExitCode.UNEXPECTED);
            }
        };
    }

    private static void handle(String name, Runnable action) {
        try {
            Signal.handle(new Signal(name), signal -> action.run());
        } catch (IllegalArgumentException e) {
            LoggerFactory.getLogger(Signals.class).warn("SIG{} cannot be handled here", name);
        }
    }
}
