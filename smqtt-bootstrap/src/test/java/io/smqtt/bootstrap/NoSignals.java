// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

/** Signals that never come. */
final class NoSignals implements Signals {

    @Override
    public void onStop(Runnable action) {}

    @Override
    public void onReload(Runnable action) {}

    @Override
    public void halt() {}
}
