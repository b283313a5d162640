"""Uploads an assembled Space with the hub's own client (plain git refuses binary files there)."""

from pathlib import Path

from osrag.errors import BadInput, BadSettings, ModelNotFound


def push(folder: Path, repo: str, hardware: str, *, endpoint: str | None = None) -> str:
    """Create or update the Space `repo` ("owner/name") from `folder`; returns its address."""
    import httpx
    from huggingface_hub import HfApi, errors

    if repo.count("/") != 1:
        raise BadInput(f"{repo!r} is no Space", hint="write owner/name")
    api = HfApi(endpoint=endpoint)
    try:
        api.create_repo(repo, repo_type="space", space_sdk="gradio", exist_ok=True)
        done = api.upload_folder(
            repo_id=repo,
            repo_type="space",
            folder_path=folder,
            delete_patterns="*",
            ignore_patterns=[".osrag-space"],
            commit_message=f"osrag for {hardware}",
        )
    except errors.HfHubHTTPError as error:
        if error.response is not None and error.response.status_code in {401, 403}:
            raise BadSettings(
                f"the hub refused to write to {repo}", hint="set HF_TOKEN to a token with write access"
            ) from error
        raise ModelNotFound(f"the hub did not take {repo}: {error}", hint="run the same command again") from error
    except httpx.HTTPError as error:
        raise ModelNotFound("the hub cannot be reached", hint="check the connection and run it again") from error
    return str(done.repo_url)
