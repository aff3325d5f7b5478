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

    /** Takes a place for a request; returns whether there is some. */
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

    /** Gives the place of a request back, if it has one, and the room of its body. */
    synchronized void leave(boolean isPlaced, long size) {
        requests -= isPlaced ? 1 : 0;
        bytes -= size;
    }

    /** The requests that have a place. */
    synchronized int requests() {
        return requests;
    }
}
