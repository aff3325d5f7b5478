// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import java.util.List;

/**
 * What became of a reload.
 *
 * @param reloaded what was read again and holds from now on
 * @param failed what could not be read again and stays as it was, with the reason
 */
public record ReloadResult(List<String> reloaded, List<String> failed) {}
