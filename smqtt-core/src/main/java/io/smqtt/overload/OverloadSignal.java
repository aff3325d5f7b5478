// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

/** A figure that shows overload. For the thread of the {@link OverloadWatch}. */
interface OverloadSignal {

    /** Where the figure is. Between both thresholds the level stays as it is. */
    enum State {
        /** Below the lower threshold. */
        CALM,
        /** Between the thresholds. */
        RAISED,
        /** Above the upper threshold. */
        EXCEEDED
    }

    /** Takes the figure. */
    State sample(long nowNanos);

    /** The figure that was taken last, in words. */
    String text();
}
