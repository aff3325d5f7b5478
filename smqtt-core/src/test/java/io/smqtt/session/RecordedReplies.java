// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Records the replies to departures by their names, and the last departure that began. */
final class RecordedReplies implements SessionDeparture.Reply {

    final List<String> names = new ArrayList<>();

    @Nullable
    SessionDeparture departure;

    @Override
    public void gone() {
        names.add("gone");
    }

    @Override
    public void refused() {
        names.add("refused");
    }

    @Override
    public void busy() {
        names.add("busy");
    }

    @Override
    public void departing(SessionDeparture session) {
        names.add("departing");
        departure = session;
    }
}
