// SPDX-License-Identifier: Apache-2.0
package io.smqtt.trace;

/** Receives the events of a trace. */
@FunctionalInterface
public interface TraceListener {

    /**
     * An event has happened. Called on any event loop, on several of them at the same time; the events of one client come in order. Must
     * return at once: the event loop waits. A listener that throws ends its trace.
     *
     * @param event the event
     */
    void traced(TraceEvent event);
}
