// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** What came of a request to a backend of authentication or authorization. */
public enum BackendOutcome {
    /** The backend has answered. */
    ANSWERED,
    /** An answer that is kept was used again. */
    CACHED,
    /** A request of the same content was in flight, and its answer is used. */
    SHARED,
    /** The backend has answered with an error, or could not be reached. */
    FAILED,
    /** The backend has not answered in time. */
    TIMED_OUT,
    /** The request was not made, because too many wait. */
    REFUSED_FULL,
    /** The request was not made, because the backend fails. */
    REFUSED_DOWN
}
