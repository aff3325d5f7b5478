// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import java.util.List;

/** Routes that belong together. */
@FunctionalInterface
public interface RouteGroup {

    /**
     * Returns the routes.
     *
     * @return all routes of the group; asked once
     */
    List<Route> routes();
}
