// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import io.smqtt.admin.account.Caller;
import org.jspecify.annotations.Nullable;

/** Observes what was answered, for the audit. Called on any thread; must neither block nor throw. */
public interface ApiObserver {

    /**
     * Called after the handler of a route has answered, and before the answer is sent.
     *
     * @param request the request
     * @param status the status of the answer
     * @param failure what has failed although the status says success; empty if nothing has
     */
    void answered(ApiRequest request, int status, String failure);

    /**
     * Called when a request is refused before a handler gets it: by its address, Host or Origin, or because the caller is not
     * known or may not do it.
     *
     * @param call the request
     * @param caller the caller; null if it is not known
     * @param template the path of the route below the base; empty if it was not looked for
     * @param status the status of the answer
     * @param code the reason
     */
    default void refused(ApiCall call, @Nullable Caller caller, String template, int status, String code) {}
}
