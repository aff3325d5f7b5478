// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.smqtt.thread.AnyThread;

/** The room for requests whose messages the broker does not have yet: for a number of them, and for the bytes of their bodies. */
@AnyThread
final class RequestRoom {

    private final int mostRequests;
    private final long mostBytes;
    private int requests; // guarded by this
    private long bytes; // guarded by this

    RequestRoom(int mostRequests, long mostBytes) {
        this.mostRequests = mostRequests;
        this.mostBytes = mostBytes;
    }

    /** Takes room for a request; returns whether there is some. */
    synchronized boolean enter() {
        boolean isFree = requests < mostRequests;
        requests += isFree ? 1 : 0;
        return isFree;
    }

    /** Takes room for a part of a body; returns whether there is some. */
    synchronized boolean take(int size) {
        boolean isFree = bytes + size <= mostBytes;
        bytes += isFree ? size : 0;
        return isFree;
    }

    /** Gives the room of a request and of its body back. */
    synchronized void leave(long size) {
        requests--;
        bytes -= size;
    }

    /** The requests in it. */
    synchronized int requests() {
        return requests;
    }
}
